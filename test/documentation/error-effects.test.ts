import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorPlaces } from './support/error-places.ts'

const PAGE = 'docs/internals/error-effects.md'

function listed(): string[] {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)
  return [...rows].map(([, path, told]) => `${path} | ${told}`)
}

it('every place that makes an error is listed, with each effect that it can say', () => {
  expect(listed()).toEqual(errorPlaces())
})

it('no class of the client is made with an effect that it must not claim', () => {
  const forbidden = [/BodyError: [^;]*unknown/, /RejectedError: [^;]*applied/, /KeyReuseError: [^;]*applied/]
  const never = [/NotSentError: [^;]*(unknown|applied)/, /IndeterminateError: [^;]*none/]
  for (const place of errorPlaces()) for (const wrong of [...forbidden, ...never]) expect(place).not.toMatch(wrong)
})

it('what a caller is told of an operation with a record is said in one place', () => {
  const makers = errorPlaces().filter((place) => /RejectedError: /.test(place))
  expect(makers.map((place) => place.split(' | ')[0])).toEqual(['client/operation/outcome.ts'])
})
