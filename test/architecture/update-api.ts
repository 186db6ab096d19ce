import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { API_RECORDS, publicApi, recordPath } from './public-api.ts'

for (const [name, entry] of Object.entries(API_RECORDS)) {
  const path = recordPath(name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, publicApi(entry))
  console.log(path)
}
