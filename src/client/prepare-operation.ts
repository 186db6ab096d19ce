import { ConfigurationError } from '../errors/classes.ts'
import { newOperationKey } from '../foundation/identity.ts'
import { newRecord } from './engine/accept.ts'
import type { CallOptions } from './options.ts'
import { resolveCall, resolveHonoursKeys } from './policy/resolve-call.ts'
import { type PreparedOperation, preparedFrom } from './prepared-operation.ts'
import { snapshotBody } from './request-body.ts'
import { readRequest } from './request-input.ts'
import type { CallSettings, Target } from './start-call.ts'

/** Makes key and bytes for an operation that will be written in somebody else's transaction. */
export async function prepareOperation(
  settings: CallSettings,
  target: Target,
  options: CallOptions,
): Promise<PreparedOperation> {
  const { engine, digest } = settings
  const call = resolveCall(options, engine.options)
  if (options.durable === false)
    throw new ConfigurationError('`durable: false` can not be prepared: a prepared operation is a record')
  const { baseUrl, keyHeader, credentials: credentialsMode, maxBodyBytes, namespace } = engine.options
  const keyHeaderName = keyHeader.name.toLowerCase()
  const input = readRequest(target, options, { baseUrl, keyHeaderName, credentialsMode })
  const body = await snapshotBody(options, maxBodyBytes)
  const fingerprint = await digest([input.method, input.url], body.bytes)
  await engine.keeper.open()
  const now = engine.clock.now()
  const key = input.key ?? newOperationKey()
  const horizonAt = now + engine.horizons.horizonMs(input.origin)
  const honoursKeys = resolveHonoursKeys(engine.options.honoursKeys, input.credentials.url) ?? true
  const clientCredentials = engine.credentials.namesFor(input.origin)
  const birth = { namespace, key, input, body, fingerprint, options, now, horizonAt, clientCredentials, honoursKeys }
  const record = newRecord({ ...birth, lease: undefined })
  const row = await engine.keeper.encode(record)
  const { credentials } = input
  return preparedFrom({ record, row, keeper: engine.keeper, credentials, call, options, persisted: false })
}
