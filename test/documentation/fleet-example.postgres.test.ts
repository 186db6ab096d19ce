import { expect, it } from 'vitest'
import { runExample } from './support/run-example.ts'

it('07: a worker of the fleet is killed, and the others finish its work: nothing lost, nothing done twice', async () => {
  const { code, output } = await runExample('07-fleet-postgres')
  expect(output).toMatch(/kill -9 \d+ {2}worker \d dies with [1-9]\d* orders under way/)
  expect(output).toMatch(/^ {2}worker \d {2}order +\d+ {2}taken over from worker \d$/m)
  expect(output.match(/^ +[123] +\d+ +\d+ +\d+ +\d+( {2}killed)?$/gm)).toHaveLength(3)
  expect(output.trimEnd().split('\n').at(-1)).toBe('  30 accepted, 30 applied once, 0 twice, 0 lost')
  expect(output).not.toContain('\x1b[')
  expect(code).toBe(0)
}, 90_000)
