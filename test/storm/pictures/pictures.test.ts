import { describe, expect, it } from 'vitest'
import { runExperiments } from '../run-experiments.ts'
import { drawPicture, type Picture, rounded } from './draw.ts'
import { picturesOf } from './pictures-of.ts'

const results = runExperiments(
  { clients: [10], seed: 1, only: ['layers'], situations: [], json: undefined, pictures: undefined },
  () => {},
)

function pictureOf(file: string): Picture {
  const picture = picturesOf(results).find((candidate) => candidate.file === file)
  if (!picture) throw new Error(`There is no ${file}`)
  return picture
}

/** The words of a picture, in the order in which they are drawn. */
function wordsOf(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, word = '']) => word)
}

describe('the pictures', () => {
  it('are the same each time', async () => {
    const picture = pictureOf('layers.svg')
    const first = await drawPicture(picture)
    await drawPicture({ ...picture, title: 'another' })
    expect(await drawPicture(picture)).toBe(first)
  })

  it('say what they show to whoever cannot see them', async () => {
    const { title, description, ...rest } = pictureOf('layers.svg')
    const svg = await drawPicture({ ...rest, title: `${title} <&>`, description })
    expect(svg).toContain(`<title id="title">${title} &lt;&amp;&gt;</title>`)
    expect(svg).toContain(`<desc id="description">${description}</desc>`)
    expect(svg.match(/ role="| aria-/g)).toHaveLength(2)
    expect(svg).toMatch(/^<svg role="img" aria-labelledby="title description" /)
  })

  it('bring a ground of their own, so that they can be read on a dark page', async () => {
    expect(await drawPicture(pictureOf('layers.svg'))).toContain('fill="#ffffff"')
  })

  it('places its marks to a tenth of a pixel, and leaves numbers in words alone', async () => {
    expect(rounded('<path d="M1.2345,-6.7891Z"/><text transform="translate(0.25,3)">1.86</text>')).toBe(
      '<path d="M1.2,-6.8Z"/><text transform="translate(0.3,3)">1.86</text>',
    )
    expect(await drawPicture(pictureOf('layers.svg'))).not.toMatch(/ d="[^"]*\d\.\d\d/)
  })

  it('name their axes, their lines and their values', async () => {
    const words = wordsOf(await drawPicture(pictureOf('layers.svg')))
    const named = ['layers that retry', 'requests per operation (log)', 'each layer retries', '27', '81']
    expect(words).toEqual(expect.arrayContaining(named))
  })

  it('are drawn only for what was run', () => {
    expect(picturesOf(results).map(({ file }) => file)).toEqual(['layers.svg'])
  })
})
