import type { PromiseName } from '../../src/testing/simulation/oracle/facts.ts'

/** A deliberate fault in the product: one place in one file, and what it says instead. */
export interface Mutation {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  /** The promises that it may be seen to break. */
  readonly breaks: readonly PromiseName[]
  /** Within so many histories it has to be found. */
  readonly within: number
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a new key for each attempt',
    file: 'src/client/engine/attempt-headers.ts',
    find: 'formatKey(record.key, keyHeader.format)',
    replace: 'formatKey(record.key.slice(0, -1).concat(terms.number), keyHeader.format)',
    breaks: ['P1', 'P2', 'P3'],
    within: 100,
  },
  {
    name: 'sending before the record is durable',
    file: 'src/client/journal/record-keeper.ts',
    find: "const result = await this.#writes.run({ do: 'append', row })",
    replace: "this.#writes.run({ do: 'append', row }).catch(() => {}); const result = { appended: true }",
    breaks: ['P1'],
    within: 100,
  },
  {
    name: "settling without the lease's epoch",
    file: 'src/client/journal/row-commands.ts',
    find: 'if (!row || row.owner !== fence.owner || row.epoch !== fence.epoch) return',
    replace: 'if (!row) return',
    breaks: ['P8', 'P4'],
    within: 500,
  },
  {
    name: 'forgetting the do-not-retry verdict on a restart',
    file: 'src/client/engine/persistence.ts',
    find: 'const { fence, record } = operation',
    replace: "const { fence, record } = operation; if (record.reason === 'do-not-retry') return Promise.resolve(true)",
    breaks: ['P7', 'P4', 'P8'],
    within: 500,
  },
  {
    name: 'looking at the deadline only after sending',
    file: 'src/client/policy/decide.ts',
    find: "return now >= deadlineAt ? 'deadline' : 'yes'",
    replace: "return 'yes'",
    breaks: ['P5'],
    within: 2000,
  },
  {
    name: 'not charging the budget for a resume',
    file: 'src/client/engine/resume-budget.ts',
    find: 'if (this.#budget.take(origin, now)) {',
    replace: 'if (this.#budget) {',
    breaks: ['P6'],
    within: 1000,
  },
  {
    name: 'letting go of the settlement before the handler has taken it',
    file: 'src/client/engine/deliver.ts',
    find: 'const outcome = await attemptDelivery(engine, operation)',
    replace: 'await markAsDelivered(engine, operation); const outcome = await attemptDelivery(engine, operation)',
    // It writes a second time, under a lease that it has let go.
    breaks: ['P4', 'P8'],
    within: 500,
  },
  {
    name: 'ignoring the horizon',
    file: 'src/client/policy/decide.ts',
    find: "if (now >= horizonAt) return 'horizon'",
    replace: '',
    // What is never seen to be past its horizon never expires either.
    breaks: ['P5', 'P4'],
    within: 1000,
  },
  {
    name: 'two runners on one lease',
    file: 'src/client/journal/claim-rules.ts',
    find: 'row.leaseUntil <= claimant.now',
    replace: 'true',
    breaks: ['P8'],
    within: 200,
  },
  {
    name: 'taking an interrupted attempt for one that did not happen',
    file: 'src/client/operation/transition.ts',
    find: "fault: 'interrupted', effect: 'unknown'",
    replace: "fault: 'interrupted', effect: 'none'",
    breaks: ['P3'],
    within: 1000,
  },
  {
    name: "writing the answer's cookies down",
    file: 'src/client/engine/kept-record.ts',
    find: 'if (!record.response) return record',
    replace: 'return record',
    breaks: ['P9'],
    within: 100,
  },
  {
    name: 'other bytes after a restart',
    file: 'src/client/operation/codec.ts',
    find: 'body: bodies.body }',
    replace: 'body: bodies.body && bodies.body.slice(1) }',
    breaks: ['P2'],
    within: 200,
  },
  {
    name: 'saying of a success whose body is odd that it was not done',
    file: 'src/client/operation-handle.ts',
    find: "new BodyError(message, { ...details, effect: 'applied', response: shown",
    replace: "new BodyError(message, { ...details, effect: 'none', response: shown",
    breaks: ['P3'],
    within: 500,
  },
  {
    name: 'taking a reused key for proof that nothing was done',
    file: 'src/client/engine/end-run.ts',
    find: "const effect = whole ? 'none' : operation.record.effect",
    replace: "const effect = whole || reason === 'key-reuse' ? 'none' : operation.record.effect",
    breaks: ['P3'],
    within: 3000,
  },
  {
    name: 'taking a settlement that no handler was there for as delivered',
    file: 'src/client/engine/handlers.ts',
    find: 'return handlers.length > 0',
    replace: 'return true',
    breaks: ['P4'],
    within: 3000,
  },
  {
    name: 'resuming without the credentials of the call',
    file: 'src/client/engine/credentials.ts',
    find: 'return call ? [] : withheld.filter((name) => !own.some(([made]) => made === name))',
    replace: 'return call || own.length > 0 ? [] : withheld',
    breaks: ['P9'],
    within: 1000,
  },
  {
    name: 'letting a settled record go at once',
    file: 'src/client/engine/kept-record.ts',
    find: 'const shortest = settledAt + SHORTEST_RETENTION_MS',
    replace: 'const shortest = settledAt',
    breaks: ['P2', 'P4', 'P7'],
    within: 3000,
  },
  {
    name: 'sending again what a server that ignores keys may have done',
    file: 'src/client/engine/run.ts',
    find: "if (!this.#replayable && this.#operation.record.effect !== 'none') {",
    replace: 'if (this.#attempts < 0) {',
    breaks: ['P3'],
    within: 2000,
  },
  {
    name: 'taking an old list of locks for what tabs there are',
    file: 'src/client/coordination/tab-neighbours.ts',
    find: 'const alive = await LifeSign.given(this.#locks)',
    replace: 'const alive = await (this.seen ??= LifeSign.given(this.#locks))',
    breaks: ['P8'],
    within: 3000,
  },
  {
    name: 'forgetting the horizon while headers are made',
    file: 'src/client/engine/attempt.ts',
    find: "if (late !== 'yes') return",
    replace: "if (late === 'deadline') return",
    breaks: ['P5'],
    within: 3000,
  },
  {
    name: 'answering a look-up from memory alone',
    file: 'src/client/holdfast-client.ts',
    find: 'const isTaken = record && (',
    replace: 'const isTaken = record && !live && (',
    breaks: ['P3'],
    within: 10_000,
  },
  {
    name: 'asking again by fetch after a do-not-retry verdict',
    file: 'src/client/engine/join-stored.ts',
    find: "record.reason !== 'do-not-retry' && ",
    replace: '',
    breaks: ['P7'],
    within: 2000,
  },
  {
    name: 'saying nothing of a possible repetition',
    file: 'src/client/engine/end-run.ts',
    find: 'return !showsKeyHonoured(last?.response?.headers ?? [], key)',
    replace: 'return key === undefined',
    breaks: ['P3'],
    within: 3000,
  },
]
