import { noteDefaultDispatcher } from './global-dispatcher.ts'

export type Undici = typeof import('undici')

let loaded: Undici | undefined

/** undici, once it is loaded. */
export function undici(): Undici | undefined {
  return loaded
}

/**
 * Loads undici when a call first needs it, and after Node's own fetch: loaded before, it makes its dispatcher that of
 * every fetch in the program, and another version of undici than Node's treats some requests differently.
 */
export async function loadUndici(): Promise<Undici> {
  const module = await import('undici')
  noteDefaultDispatcher()
  loaded = module
  return module
}
