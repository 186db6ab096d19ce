import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DOORS, RECORD, surfaceOf } from './public-api.ts'

const surface = surfaceOf(DOORS)
for (const part of ['exports', 'declarations'] as const) {
  mkdirSync(dirname(RECORD[part]), { recursive: true })
  writeFileSync(RECORD[part], surface[part])
  console.log(RECORD[part])
}
