/** What an effect on a ledger in memory writes with: it says itself how to take back what it did. */
export interface MemoryTransaction {
  /** Called, last one first, where the effect is rolled back. */
  onRollback(undo: () => void): void
}

export class MemoryUndo {
  readonly #undos: (() => void)[] = []
  readonly transaction: MemoryTransaction = { onRollback: (undo) => void this.#undos.push(undo) }

  rollBack(): void {
    for (const undo of this.#undos.splice(0).reverse()) undo()
  }
}
