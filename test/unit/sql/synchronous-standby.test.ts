import { expect, it } from 'vitest'
import { replicationFault } from '../../../src/sql/synchronous-standby.ts'

const GOOD = { recovers: 'false', standbys: 'ANY 1 (*)', level: 'on' }

it.each(['on', 'remote_apply', 'remote_write'])(
  'a primary with a standby and synchronous_commit %s is good',
  (level) => {
    expect(replicationFault({ ...GOOD, level })).toBeUndefined()
  },
)

it.each([
  ['a standby', { recovers: 'true' }, /in recovery. Connect to the primary/],
  ['a primary without standbys', { standbys: ' ' }, /synchronous_standby_names is empty/],
  ['a role that does not wait', { level: 'off' }, /synchronous_commit is 'off'. Set it to 'on' for this role/],
  ['a role that waits for the primary only', { level: 'local' }, /synchronous_commit is 'local'/],
])('%s is not', (_, bad, sentence) => {
  expect(replicationFault({ ...GOOD, ...bad })).toMatch(sentence)
})
