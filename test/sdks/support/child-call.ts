import { inputOf, say } from '../../support/child-voice.ts'
import { resumableClient } from '../snippets/holdfast.ts'
import { aimedAt, describeError, type FetchOwner } from './cell.ts'
import { setEnvironment } from './environment.ts'

export interface ChildInput {
  readonly origin: string
  readonly db: string
  /** Whose fetch the call is made with; ours by default. */
  readonly by?: 'ours' | 'platform'
}

/** Of a program that makes one call through an SDK, and is made to be killed in it. */
export async function callInChild(call: (client: FetchOwner) => Promise<unknown>): Promise<never> {
  const { by = 'ours' } = aimedChild()
  const client = resumableClient()
  await call(by === 'ours' ? client : { fetch: globalThis.fetch }).then(
    (answer) => say('answered', { answer }),
    (error) => say('answered', { error: describeError(error) }),
  )
  await client.close()
  process.exit()
}

/** The input of this process, whose requests now go to loopback, and whose records to the journal of the test. */
export function aimedChild<T extends ChildInput>(): T {
  const input = inputOf<T>()
  setEnvironment()
  globalThis.fetch = aimedAt(input.origin, { fetch: globalThis.fetch }).fetch
  process.env.HOLDFAST_DB = input.db
  return input
}
