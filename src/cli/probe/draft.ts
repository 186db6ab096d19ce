/** The draft that the sentences are of. */
export const DRAFT = 'draft-ietf-httpapi-idempotency-key-header-07'

/** A sentence of the draft, by what it is about. */
export interface DraftSentence {
  readonly section: string
  readonly text: string
}

export const SENTENCES = {
  first: {
    section: '2.6',
    text: 'First time request: the resource SHOULD process the request normally and respond with an appropriate response and status code.',
  },
  retry: {
    section: '2.6',
    text: 'The request was retried after the original request completed. The resource SHOULD respond with the result of the previously completed operation, success or an error.',
  },
  concurrent: {
    section: '2.6',
    text: 'The request was retried before the original request completed. The resource SHOULD respond with a resource conflict error.',
  },
  otherPayload: {
    section: '2.7',
    text: 'If there is an attempt to reuse an idempotency key with a different request payload, the resource SHOULD reply with a HTTP 422 status code.',
  },
  missing: {
    section: '2.7',
    text: 'If the Idempotency-Key request header is missing for a documented idempotent operation requiring this header, the resource SHOULD reply with an HTTP 400 status code.',
  },
  expiry: {
    section: '2.3',
    text: 'The resource SHOULD define such expiration policy and publish it in the documentation.',
  },
} as const satisfies Record<string, DraftSentence>
