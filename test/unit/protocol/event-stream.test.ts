import { expect, test } from 'vitest'
import { isEventStream } from '../../../src/protocol/headers.ts'

const ofType = (type: string) => isEventStream([['content-type', type]])

test.each([
  'text/event-stream',
  'Text/Event-Stream',
  '  text/event-stream  ',
  'text/event-stream; charset=utf-8',
  'text/event-stream  ;charset=utf-8',
])('%j is an event stream', (type) => {
  expect(ofType(type)).toBe(true)
})

test.each(['', 'text/plain', 'text/event-streams', 'text/event-stream2', 'a text/event-stream', 'text/event-stream a'])(
  '%j is none',
  (type) => {
    expect(ofType(type)).toBe(false)
  },
)

test('an answer without a type is none', () => {
  expect(isEventStream([['x-type', 'text/event-stream']])).toBe(false)
})
