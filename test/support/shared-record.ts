import { newRecord } from '../../src/client/engine/call/call.ts'
import type { OperationRecord } from '../../src/client/operation/record.ts'

export const NOW = 1_735_732_800_000

/** A fresh record with our lease, its first attempt on it. */
export function freshRecord(more: Partial<OperationRecord> = {}): OperationRecord {
  const record = newRecord({
    namespace: 'default',
    key: '6f1f1f0e-0000-4000-8000-000000000001',
    input: {
      method: 'POST',
      url: 'https://api.example.com/charges',
      origin: 'https://api.example.com',
      headers: [['content-type', 'text/plain']],
      credentials: { url: 'https://api.example.com/charges', headers: [], names: [] },
      key: undefined,
    },
    body: { bytes: new TextEncoder().encode('one'), contentType: undefined },
    fingerprint: 'f'.repeat(64),
    options: {},
    now: NOW,
    horizonAt: NOW + 28_800_000,
    lease: { owner: 'me', epoch: 1, until: NOW + 30_000 },
    clientCredentials: [],
    honoursKeys: true,
    trace: undefined,
    carriedOn: false,
    isSentNow: true,
  })
  return { ...record, ...more }
}
