import { expect, it } from 'vitest'
import { parseMediaType } from '../../../src/protocol/media-type.ts'

it.each([
  [undefined, '', {}],
  ['', '', {}],
  ['application/json', 'application/json', {}],
  [' Text/Plain ; Charset=UTF-8', 'text/plain', { charset: 'UTF-8' }],
  ['a/b;x="1;\\"2";y=3', 'a/b', { x: '1;"2', y: '3' }],
  ['a/b; x=1; X=2', 'a/b', { x: '1' }],
  ['a/b; x; y=2; =3;', 'a/b', { y: '2' }],
  ['a/b; x="no end', 'a/b', { x: '' }],
])('reads %j', (text, essence, parameters) => {
  const type = parseMediaType(text)
  expect(type.essence).toBe(essence)
  expect(Object.fromEntries(type.parameters)).toEqual(parameters)
})

it('is quick with hostile texts', () => {
  expect(parseMediaType(`a/b${'; '.repeat(100_000)}`).parameters.size).toBe(0)
  expect(parseMediaType(`a/b;x="${'\\'.repeat(100_001)}`).parameters.size).toBe(1)
})
