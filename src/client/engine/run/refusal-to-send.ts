import type { OperationRecord } from '../../operation/record.ts'
import type { Engine } from '../engine.ts'
import { credentialsLacking, maySendTo } from './attempt-headers.ts'

/**
 * Why this client may not send an operation of the journal: it is for another origin, this client lacks its credentials, or
 * another user is logged in. Undefined: nothing is known against it before the headers are made.
 */
export function refusalToSend(
  { options, session }: Pick<Engine, 'options' | 'session'>,
  record: OperationRecord,
): unknown {
  const { origin } = record.request
  if (!maySendTo(options, origin)) return foreignOrigin(origin)
  const missing = credentialsLacking(options, record)
  return missing.length > 0 ? credentialsMissing(missing) : session.refusal(record)
}

export function credentialsMissing(names: readonly string[]): Error {
  return new Error(
    `It was called with credentials (${names.join(', ')}), which are never written down, and would go out without them: resume it with a client whose headers make them, or call again with its id or key, and with them`,
  )
}

export function foreignOrigin(origin: string): Error {
  return new Error(`It is for ${origin}, which is neither the baseUrl of this client nor one of its trustedOrigins`)
}
