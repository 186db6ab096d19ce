import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * What stands for `import.meta.url` in the CommonJS build. Safe for folders with spaces, `#` and `%` in their names. A bundler
 * that makes ES modules of the build leaves no `__filename`: then packages are looked for from the working directory.
 */
export const importMetaUrl = pathToFileURL(
  typeof __filename === 'string' ? __filename : join(process.cwd(), 'package.json'),
).href
