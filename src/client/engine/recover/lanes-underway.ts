/**
 * The lanes that a resume works through, one operation of each after the other. Between two of them the next one is free for a
 * moment, and a pass may claim it: the pass puts it back for the turn of its lane, and looks further. A pass that sent it in its
 * own turn would come to what is behind a long lane only when that lane is through; one that held it until then would hold a
 * lease of which nobody takes care.
 */
export class LanesUnderway {
  readonly #putBacks = new Map<string, Promise<void>[]>()

  begin(lane: string): void {
    this.#putBacks.set(lane, [])
  }

  /** False: nobody works through this lane here. */
  leave(lane: string | undefined, putBack: () => Promise<void>): boolean {
    const putBacks = lane === undefined ? undefined : this.#putBacks.get(lane)
    putBacks?.push(putBack())
    return putBacks !== undefined
  }

  /** Resolves when all that was left to this lane is free again. */
  async freed(lane: string): Promise<void> {
    await Promise.all(this.#putBacks.get(lane)?.splice(0) ?? [])
  }

  /** From now on nobody works through this lane. False: something was left to it meanwhile, which would be overlooked. */
  end(lane: string): boolean {
    return this.#putBacks.get(lane)?.length === 0 && this.#putBacks.delete(lane)
  }
}
