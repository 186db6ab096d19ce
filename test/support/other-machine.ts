export interface Machine {
  readonly hostname: string
  /** How far its clock is off, in minutes. */
  readonly skew: number
}

/** Options of Node for a process that takes itself for one on another machine, with another clock. */
export function onMachine({ hostname, skew }: Machine): readonly string[] {
  const source = `import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    const now = Date.now
    Date.now = () => now() + ${skew * 60_000}
    os.hostname = () => '${hostname}'
    syncBuiltinESMExports()`
  return ['--import', `data:text/javascript,${encodeURIComponent(source)}`]
}
