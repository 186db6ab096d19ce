/** How `client.fetch` is used. `keyed`: unsafe requests bring their key. `installed`: it is `globalThis.fetch`. */
export type Mode = 'defaults' | 'pass-through' | 'keyed' | 'installed'

export const MODES: readonly Mode[] = ['defaults', 'pass-through', 'keyed', 'installed']

/** How often a request is sent that fails each time, where it is sent again at all. */
export const ATTEMPTS = 3
