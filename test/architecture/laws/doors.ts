type Target = string | { readonly [condition: string]: Target }

export interface DoorPlan {
  /** Files under src, relative to it. */
  readonly files: readonly string[]
  /** The `exports` of package.json. */
  readonly exports: Readonly<Record<string, Target>>
  readonly nodeEntries: Readonly<Record<string, string>>
  readonly browserEntries: Readonly<Record<string, string>>
}

/** A public door is a file called index.ts, a tsup entry and a line in `exports`: all three, or none. */
export function doorMismatches(plan: DoorPlan): string[] {
  const doors = plan.files.filter((path) => path === 'index.ts' || path.endsWith('/index.ts'))
  const wanted = doors.map((path) => ({ entry: path.replace(/\.ts$/, ''), file: `src/${path}`, name: nameOf(path) }))
  const entries = Object.entries(plan.nodeEntries)
  const names = Object.keys(plan.exports).filter((name) => name !== './package.json')
  return [
    ...wanted.filter((door) => plan.nodeEntries[door.entry] !== door.file).map(({ file }) => `${file} is not built`),
    ...wanted.filter((door) => !names.includes(door.name)).map(({ name }) => `${name} is not in exports`),
    ...entries.filter(([, file]) => !wanted.some((door) => door.file === file)).map(([, file]) => `${file} is no door`),
    ...names.filter((name) => !wanted.some((door) => door.name === name)).map((name) => `${name} has no door`),
    ...wanted.flatMap((door) => wrongTargets(door, plan)),
  ]
}

function nameOf(path: string): string {
  return path === 'index.ts' ? '.' : `./${path.replace(/\/index\.ts$/, '')}`
}

/** The build without Node, for the runtimes that have none: Workers of Cloudflare, edge functions, workers, pages. */
function withoutNode(entry: string): Readonly<Record<string, Target>> {
  const target = { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` }
  return { workerd: target, 'edge-light': target, worker: target, browser: target }
}

function wrongTargets({ entry, name }: { entry: string; name: string }, plan: DoorPlan): string[] {
  const expected = {
    ...(entry in plan.browserEntries && withoutNode(`browser/${entry}`)),
    import: { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
    require: { types: `./dist/${entry}.d.cts`, default: `./dist/${entry}.cjs` },
  }
  const actual = plan.exports[name]
  // Order counts: the first condition that fits wins.
  if (actual === undefined || JSON.stringify(actual) === JSON.stringify(expected)) return []
  return [`${name} leads to ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`]
}
