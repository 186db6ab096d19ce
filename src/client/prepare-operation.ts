import { ConfigurationError } from '../errors/classes.ts'
import { newOperationKey } from '../foundation/identity.ts'
import { newRecord } from './engine/call/call.ts'
import type { Engine } from './engine/engine.ts'
import type { CallOptions } from './options.ts'
import { resolveCall, resolveHonoursKeys } from './policy/resolve-call.ts'
import { type PreparedOperation, preparedFrom } from './prepared-operation.ts'
import { snapshotBody } from './request-body.ts'
import { readCallRequest, type Target } from './start-call.ts'

/** Makes key and bytes for an operation that will be written in a transaction of the caller's. */
export async function prepareOperation(
  engine: Engine,
  target: Target,
  options: CallOptions,
): Promise<PreparedOperation> {
  const { options: client, keeper, fingerprints, clock, horizons, credentials: learned } = engine
  const limits = resolveCall(options, client)
  if (options.durable === false)
    throw new ConfigurationError('prepare() needs a durable operation; leave out `durable: false`')
  const input = readCallRequest(engine, target, options)
  const { credentials, origin } = input
  const session = engine.session.current()
  const body = await snapshotBody(options, client.maxBodyBytes)
  const fingerprint = await fingerprints.of({ ...input, contentType: body.contentType, body: body.bytes })
  await keeper.open()
  const now = clock.now()
  const record = newRecord({
    namespace: client.namespace,
    key: input.key ?? newOperationKey(),
    input,
    body,
    fingerprint,
    options,
    now,
    horizonAt: now + horizons.horizonMs(origin),
    lease: undefined,
    clientCredentials: learned.namesFor(origin),
    honoursKeys: resolveHonoursKeys(client.honoursKeys, { url: credentials.url, method: input.method }) ?? true,
    session,
    // What was promised in a transaction is carried on, whether or not a caller waits for it.
    carriedOn: options.onGiveUp !== 'fail',
    trace: client.telemetry?.traceRecord(),
  })
  const row = await keeper.encode(record)
  return preparedFrom({ record, row, keeper, credentials, limits, options, persistedIn: [] })
}
