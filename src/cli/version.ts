import { createRequire } from 'node:module'

/** By the package's own name: the built file and its source are not equally deep in the tree. */
export function readVersion(): string {
  const { version } = createRequire(import.meta.url)('holdfast/package.json') as { readonly version: string }
  return version
}
