// Writes the reference of every public door from its types and their comments: docs/site/api/, a page for each door.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Application, Converter } from 'typedoc'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

/** `./server/sqlite` -> src/server/sqlite/index.ts, as test/architecture/doors.test.ts has it. */
const doors = Object.keys(exports).filter((door) => door !== './package.json')
const entryPoints = doors.map((door) => `${ROOT}src/${door.replace(/^\.\/?/, '')}/index.ts`.replace('src//', 'src/'))

const app = await Application.bootstrapWithPlugins({
  entryPoints,
  plugin: ['typedoc-plugin-markdown'],
  tsconfig: `${ROOT}tsconfig.json`,
  basePath: `${ROOT}src`,
  out: `${ROOT}docs/site/api`,
  readme: 'none',
  router: 'module',
  flattenOutputFiles: true,
  entryFileName: 'doors',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  disableSources: true,
  excludeInternal: true,
  excludeExternals: true,
  groupOrder: ['Functions', 'Variables', 'Interfaces', 'Type Aliases', 'Classes', '*'],
  tableColumnSettings: {
    hideInherited: true,
    hideOverrides: true,
    hideModifiers: true,
    hideDefaults: true,
    hideSources: true,
  },
  excludePrivate: true,
  skipErrorChecking: true,
  githubPages: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  propertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  useCodeBlocks: true,
  useHTMLAnchors: true,
  sanitizeComments: true,
  logLevel: 'Error',
})
app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
  for (const door of project.children ?? []) door.name = door.name === 'index' ? 'holdfast' : `holdfast/${door.name}`
})
const project = await app.convert()
if (!project) throw new Error('The types could not be read')
await app.generateOutputs(project)
