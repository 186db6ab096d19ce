import { it } from 'vitest'
import { expectNumbers, runQuickly } from '../bench/support/quick-run.ts'

it('measures posts beside plain fetch and Workbox in one page', async () => {
  expectNumbers(await runQuickly('browser'))
})
