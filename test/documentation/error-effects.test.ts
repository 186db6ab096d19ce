import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorPlaces } from './support/error-places.ts'
import { sourceFiles } from './support/source-files.ts'

const PAGE = 'docs/internals/error-effects.md'

function listed(): string[] {
  return rowsOf(0).map(([path, told]) => `${path} | ${told}`)
}

/** The rows of the page's first or second part. */
function rowsOf(part: 0 | 1): (readonly [path: string, text: string])[] {
  const text = readFileSync(PAGE, 'utf8').split('## What a `none` rests on')[part] ?? ''
  return [...text.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, path = '', told = '']) => [path, told])
}

/** A file of the client that says of an effect that it is none. */
const SAYS_NONE = /(?:effect:|return|\?|:|(?<!=)=) 'none'|asStorageError\([^\n]*, 'none'\)/

it('every place of the client that says none names its proof', () => {
  const says = sourceFiles()
    .filter((path) => path.startsWith('src/client/') && SAYS_NONE.test(readFileSync(path, 'utf8')))
    .map((path) => path.replace(/^src\//, ''))
  expect(rowsOf(1).map(([path]) => path)).toEqual(says.sort())
  for (const [path, proof] of rowsOf(1)) expect(proof.length, path).toBeGreaterThan(20)
})

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
