import type { Finish } from './engine/live-operation.ts'
import { errorOf, refOf } from './operation/outcome.ts'
import type { Answer } from './operation-handle.ts'

/** What a caller gets of a finish: the answer of a success, else a throw. */
export function answerOf(finish: Finish): Answer {
  switch (finish.is) {
    case 'settled': {
      const { record, rest, cause } = finish
      if (record.status !== 'succeeded') throw errorOf(record, { cause, rest })
      return { response: record.response ?? EMPTY, rest, operation: refOf(record), attempts: record.attempts }
    }
    case 'kept':
      throw finish.error
    case 'broken':
      throw finish.error
    case 'lost':
      throw new TypeError('A lost operation is followed before it is answered')
  }
}

/** Where a success is known only by hearsay: reconciled without a response. */
const EMPTY = {
  status: 200,
  statusText: '',
  headers: [],
  body: null,
  bodyOmitted: true,
  url: '',
  redirected: false,
} as const
