/**
 * The plan of the house: which room a file is in, and which rooms it may import. A room that is not on the plan is
 * a mistake until somebody draws it in here.
 */
const HALL = ['foundation', 'errors', 'protocol'] as const

/** Where inner rooms meet the world. Behind a port stand adapters, which only the composition root may name. */
const PORTS = ['client port', 'server port', 'observe port'] as const

/**
 * Files beside a port that work on any adapter behind it, and know none. They may be imported like the port itself.
 */
const FRONTS: readonly string[] = ['client/journal/record-keeper.ts', 'observe/redact.ts']

const SEAM_PORT = /^(client|server)\/(journal|transport|coordination|ledger|http)\/port\.ts$/

/** Rooms that hold judgement and vocabulary only: no waiting, no packages. */
export const PURE_ROOMS: readonly string[] = [
  'errors',
  'protocol',
  'client operation',
  'client policy',
  'client gate',
  'server entry',
  'server admission',
]

export const PLAN: Readonly<Record<string, readonly string[]>> = {
  foundation: ['foundation'],
  errors: ['errors', 'foundation', 'protocol'],
  protocol: [...HALL],
  sql: ['sql', ...HALL],
  configuration: ['configuration', 'observe front', ...HALL],

  'observe port': [...HALL],
  'observe front': ['observe front', 'observe port', ...HALL],
  'observe adapter': ['observe adapter', 'observe front', 'observe port', ...HALL],

  'client operation': ['client operation', 'observe front', ...HALL],
  'client options': [
    'client options',
    'configuration',
    'client operation',
    'client policy',
    'client gate',
    ...PORTS,
    ...HALL,
  ],
  'client policy': [
    'client policy',
    'client gate',
    'configuration',
    'client operation',
    'client options',
    'observe front',
    ...PORTS,
    ...HALL,
  ],
  'client gate': ['client gate', 'configuration', ...PORTS, ...HALL],
  'client port': ['client port', 'client operation', 'client options', ...HALL],
  'client front': [
    'client front',
    'client journal beside',
    'client port',
    'client operation',
    'client options',
    ...HALL,
  ],
  'client engine': [
    'client engine',
    'client policy',
    'client gate',
    'client operation',
    'client options',
    'client input',
    'client front',
    'observe front',
    ...PORTS,
    ...HALL,
  ],
  'client input': ['client input', 'observe front', 'client options', 'client policy', 'client operation', ...HALL],
  'client surface': [
    'client surface',
    'configuration',
    'client platform port',
    'client input',
    'client engine',
    'client policy',
    'client operation',
    'client gate',
    'client options',
    'client front',
    'observe front',
    ...PORTS,
    ...HALL,
  ],
  'client journal beside': ['client journal beside', 'client port', 'client operation', 'observe front', ...HALL],
  'client journal': [
    'client journal',
    'client journal beside',
    'configuration',
    'client port',
    'client operation',
    'sql',
    ...HALL,
  ],
  'client transport': ['client transport', 'client port', 'client options', ...HALL],
  'client encryption': ['client encryption', 'client options', ...HALL],
  'client coordination': ['client coordination', 'client port', ...HALL],
  'client platform port': ['client policy', 'client options', ...PORTS, ...HALL],
  'client platform': [
    'client platform',
    'client platform port',
    'client journal',
    'client journal beside',
    'client transport',
    'client coordination',
    'client options',
    'client policy',
    ...PORTS,
    ...HALL,
  ],
  'client root': [
    'client root',
    'client platform',
    'client platform port',
    'client surface',
    'client input',
    'client engine',
    'client policy',
    'client gate',
    'client operation',
    'client options',
    'client front',
    'client journal',
    'client journal beside',
    'client transport',
    'client coordination',
    'observe front',
    ...PORTS,
    ...HALL,
  ],

  'server entry': ['server entry', ...HALL],
  'server admission': ['server admission', 'server entry', 'server port', 'observe front', ...HALL],
  'server port': ['server port', 'server entry', ...HALL],
  'server guard': ['server guard', 'server admission', 'server entry', 'server port', 'observe port', ...HALL],
  'server ledger': ['server ledger', 'server port', 'server entry', 'sql', ...HALL],
  'server http': [
    'server http',
    'configuration',
    'server guard',
    'server admission',
    'server port',
    'server entry',
    ...HALL,
  ],
  'server root': [
    'server root',
    'configuration',
    'server http',
    'server guard',
    'server admission',
    'server entry',
    'server port',
    'observe port',
    ...HALL,
  ],
}

/** These stand outside the house and may go where they like; nobody inside knows them. */
export const OUTSIDE: readonly string[] = ['door', 'testing', 'cli']

const CLIENT_FILES: Readonly<Record<string, string>> = {
  'create-client.ts': 'client root',
  'compose-client.ts': 'client root',
  'options.ts': 'client options',
  'request-input.ts': 'client input',
  'request-body.ts': 'client input',
}

/** The room of a file, or undefined where the plan has none. */
export function roomOf(path: string): string | undefined {
  const [first = '', second = '', third] = path.split('/')
  if (path === 'index.ts' || path.endsWith('/index.ts')) return 'door'
  if (path === 'client/platform/port.ts') return 'client platform port'
  if (SEAM_PORT.test(path)) return `${first} port`
  if (FRONTS.includes(path)) return `${first} front`
  if (first === 'observe') return second === 'port.ts' ? 'observe port' : 'observe adapter'
  if (OUTSIDE.includes(first) || HALL.some((room) => room === first) || first === 'sql' || first === 'configuration')
    return first
  if (first === 'client' && third === undefined) return CLIENT_FILES[second] ?? 'client surface'
  if (first === 'server' && third === undefined) return 'server root'
  if (path.startsWith('client/journal/') && path.split('/').length === 3) return 'client journal beside'
  const room = `${first} ${second}`
  return room in PLAN ? room : undefined
}
