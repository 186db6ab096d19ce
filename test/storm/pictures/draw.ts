import { Error as ErrorsOnly, logger, parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'

export interface Picture {
  readonly file: string
  readonly title: string
  /** What one sees in it, for whoever can't see it. */
  readonly description: string
  readonly spec: TopLevelSpec
}

/** Colours that most colour-blind people can tell apart, dark enough on the white ground that every picture brings along. */
export const COLOURS: readonly string[] = [
  '#0072B2',
  '#D55E00',
  '#009E73',
  '#AA4499',
  '#B8860B',
  '#555555',
  '#56B4E9',
  '#882255',
]

/** Bold enough to be read when a page shrinks it. */
const CONFIG = {
  background: '#ffffff',
  padding: 16,
  font: 'Helvetica, Arial, sans-serif',
  axis: {
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    labelColor: '#222',
    titleColor: '#222',
    gridColor: '#e5e5e5',
  },
  legend: {
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    labelLimit: 0,
    labelColor: '#222',
    titleColor: '#222',
  },
  header: { labelFontSize: 12, titleFontSize: 12, labelColor: '#222', titleColor: '#222' },
  title: { fontSize: 14, anchor: 'start', color: '#111', subtitleColor: '#333', subtitleFontSize: 12, offset: 12 },
  view: { stroke: '#cccccc' },
  range: { category: [...COLOURS] },
} as const

/** The picture as SVG, the same for the same data. */
export async function drawPicture({ title, description, spec }: Picture): Promise<string> {
  const quiet = logger(ErrorsOnly)
  const compiled = compile({ ...spec, title: titleOf(title, spec), config: CONFIG } as TopLevelSpec, { logger: quiet })
  const view = new View(parse(compiled.spec), { renderer: 'none', logger: quiet })
  try {
    return accessible(rounded(withoutRoles(await view.toSVG())), title, description)
  } finally {
    view.finalize()
  }
}

/** One line for each clause: a long line would make the whole picture wider. */
function titleOf(text: string, spec: TopLevelSpec): object {
  const subtitle = typeof spec.title === 'object' && 'subtitle' in spec.title ? spec.title.subtitle : undefined
  return typeof subtitle === 'string' ? { text, subtitle: subtitle.split('; ') } : { text }
}

/** The picture is one image with a description; a role and a label on each of its thousand marks would drown that. */
function withoutRoles(svg: string): string {
  return svg.replaceAll(/ (?:role|aria-[a-z]+)="[^"]*"/g, '')
}

/** A tenth of a pixel is enough to see, and a third of the bytes. Words keep their numbers as they are. */
export function rounded(svg: string): string {
  const isPlace = /(?<= (?:d|transform|x|y|x1|x2|y1|y2|width|height)=")[^"]*(?=")/g
  return svg.replaceAll(isPlace, (places) =>
    places.replaceAll(/-?\d+\.\d{2,}/g, (number) => `${+Number(number).toFixed(1)}`),
  )
}

function accessible(svg: string, title: string, description: string): string {
  const words = `<title id="title">${escaped(title)}</title><desc id="description">${escaped(description)}</desc>`
  return `${svg.replace(/<svg ([^>]*)>/, `<svg role="img" aria-labelledby="title description" $1>${words}`)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
