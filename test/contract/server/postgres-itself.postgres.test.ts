import { expect, it } from 'vitest'
import { postgresScene } from '../../support/postgres.ts'

const scene = postgresScene()

it('is a real one, with a schema of our own', async () => {
  expect(await scene.query('SELECT current_schema() AS schema')).toEqual([{ schema: scene.schema }])
})
