/**
 * The lanes that a resume works through, one operation of each after the other. Between two of them the next one is free for a
 * moment, and a pass may claim it: the pass puts it back for the turn of its lane, and looks further. A pass that sent it in its
 * own turn would come to what is behind a long lane only when that lane is through; one that held it until then would hold a
 * lease of which nobody takes care.
 */
export class LanesUnderway {
  readonly #leaving = new Map<string, Promise<void>[]>()

  begin(lane: string): void {
    this.#leaving.set(lane, [])
  }

  has(lane: string): boolean {
    return this.#leaving.has(lane)
  }

  /** A pass has come upon one of this lane. `left`: when it is free again, or settled. */
  leave(lane: string, left: Promise<void>): void {
    this.#leaving.get(lane)?.push(left)
  }

  /** Resolves when nothing of this lane is in the hands of a pass. */
  async free(lane: string): Promise<void> {
    await Promise.all(this.#leaving.get(lane)?.splice(0) ?? [])
  }

  /** From now on nobody works through this lane. False: a pass has left something to it, which would be overlooked. */
  end(lane: string): boolean {
    return this.#leaving.get(lane)?.length === 0 && this.#leaving.delete(lane)
  }
}
