import { pathToFileURL } from 'node:url'

/** What stands for `import.meta.url` in the CommonJS build. Safe for folders with spaces, `#` and `%` in their names. */
export const importMetaUrl = pathToFileURL(__filename).href
