import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every file of the product, but for what is for tests, in the order of their names. */
export function sourceFiles(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('testing'))
    .map((path) => join('src', path))
    .sort()
}
