const RUNNERS = Symbol.for('holdfast.runners')

/** The runners of this thread, shared by every copy of the package. */
export function runnersHere(): Set<string> {
  const shared = globalThis as { [RUNNERS]?: Set<string> }
  shared[RUNNERS] ??= new Set()
  return shared[RUNNERS]
}

/** From now on this runner counts as dead, as if its process had ended. An owner is `host|pid|thread|uuid`. */
export function endRunner(owner: string): void {
  const [, , , id] = owner.split('|')
  if (id !== undefined) runnersHere().delete(id)
}
