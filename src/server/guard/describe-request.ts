import { ConfigurationError } from '../../errors/classes.ts'
import { fingerprintInput } from '../../protocol/fingerprint.ts'
import { headerValue } from '../../protocol/headers.ts'
import { checkBodySize, type GivenKey } from '../admission/check-request.ts'
import { isAccidentalScope } from '../admission/check-scope.ts'
import { requestFingerprints } from '../entry/entry.ts'
import type { Inbound } from '../http/port.ts'
import type { KeyRequest } from './claim-key.ts'
import { emit } from './events.ts'
import type { GuardOptions, KeyFrom } from './guard-options.ts'

/** Nothing is looked up under a scope that is an accident: other callers share it. */
export function scopeOf(guard: GuardOptions, { native }: Inbound): Promise<string> {
  return reportingFailure(guard, async () => {
    const scope = await guard.scope(native)
    if (!isAccidentalScope(scope)) return scope
    throw new ConfigurationError(
      `The option \`scope\` must give a non-empty string for each request, such as the account's id, and gave ${shown(scope)}: ` +
        "refuse callers without an account in `authorize`, or say 'public' if all callers share their keys on purpose",
    )
  })
}

/** The key that `keyFrom` gives, which alone decides. */
export function keyGivenBy(guard: GuardOptions, keyFrom: KeyFrom<unknown>, { native }: Inbound): Promise<GivenKey> {
  return reportingFailure(guard, async () => {
    const key: unknown = await keyFrom(native)
    if (key === undefined || key === null) return { key: undefined }
    if (typeof key === 'string') return { key }
    throw new ConfigurationError(`The option \`keyFrom\` must give a string, or undefined, and gave ${shown(key)}`)
  })
}

/** A scope names an account: the sentence may go to a log, and needs no more of it. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(-40)) : `a value of type ${typeof value}`
}

async function reportingFailure<T>(guard: GuardOptions, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    throw error
  }
}

export async function describeRequest(
  guard: GuardOptions,
  inbound: Inbound,
  { scope, key }: Pick<KeyRequest, 'scope' | 'key'>,
): Promise<KeyRequest> {
  const { method, path, query, headers, body } = inbound
  const given = await body()
  checkBodySize(given, guard.maxRequestBytes)
  const { texts, bytes, seen } = fingerprintInput({
    scope,
    method,
    path,
    query,
    contentType: headerValue(headers, 'content-type'),
    contentEncoding: headerValue(headers, 'content-encoding'),
    body: given,
  })
  const made = { digest: guard.digest(texts, bytes), seen }
  const [fingerprint, ...otherFingerprints] = requestFingerprints(made, guard.fingerprintKeys)
  const acceptEncoding = headerValue(headers, 'accept-encoding')
  return { scope, key, method, path, acceptEncoding, fingerprint, otherFingerprints }
}
