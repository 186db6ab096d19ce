/*
 * A recorded terminal as an animated SVG without scripts, so that it plays wherever a page shows it as an image.
 * New lines come in at the bottom and push the others up: one animation moves all of them. Where nothing is animated, or
 * the reader wants less motion, the last frame stands still.
 */

const LINE = 19
const COLUMN = 8.43
const EDGE = 18
const BAR = 34
const HOLD_MS = 7000

const STYLES = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y' }

const CSS = `
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d6dce4;white-space:pre}
.b{font-weight:700}.d{fill:#7d8896}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}`

/**
 * @param {readonly { atMs: number, text: string }[]} lines what was printed, with its escape codes
 * @param {{ columns: number, rows: number, title: string }} size of the terminal, and what its bar says
 */
export function terminalPicture(lines, { columns, rows, title }) {
  const width = Math.ceil(columns * COLUMN + 2 * EDGE)
  const height = BAR + rows * LINE + EDGE
  const bottom = (count) => BAR + (rows - count) * LINE
  const last = `transform:translateY(${bottom(lines.length)}px)`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${CSS}#out{${last}}`,
    `@media (prefers-reduced-motion:no-preference){#out{animation:out ${endOf(lines)}ms step-end infinite}}`,
    `@keyframes out{${framesOf(lines, bottom)}}</style>`,
    `<rect width="${width}" height="${height}" rx="9" fill="#10151c"/>`,
    '<g fill="#3a4450"><circle cx="20" cy="17" r="5.5"/><circle cx="38" cy="17" r="5.5"/><circle cx="56" cy="17" r="5.5"/></g>',
    `<text x="${width / 2}" y="22" text-anchor="middle" class="d">${escaped(title)}</text>`,
    `<clipPath id="in"><rect y="${BAR}" width="${width}" height="${rows * LINE + EDGE}"/></clipPath>`,
    `<g clip-path="url(#in)"><g id="out">`,
    ...lines.map(({ text }, row) => textOf(text, row)).filter(Boolean),
    '</g></g></svg>\n',
  ].join('\n')
}

function endOf(lines) {
  return Math.round((lines.at(-1)?.atMs ?? 0) + HOLD_MS)
}

/** Lines that came together make one frame. */
function framesOf(lines, bottom) {
  const counts = new Map([[0, 1]])
  for (const [index, { atMs }] of lines.entries()) counts.set(share(atMs / endOf(lines)), index + 1)
  return [...counts].map(([at, count]) => `${at}%{transform:translateY(${bottom(count)}px)}`).join('')
}

function share(part) {
  return Number((100 * part).toFixed(2))
}

function textOf(text, row) {
  const spans = spansOf(text)
  if (spans.length === 0) return ''
  const inside = spans.map(({ text: said, styles }) =>
    styles ? `<tspan class="${styles}">${escaped(said)}</tspan>` : escaped(said),
  )
  return `<text x="${EDGE}" y="${row * LINE + 14}">${inside.join('')}</text>`
}

function spansOf(text) {
  const [plain = '', ...parts] = text.split('\x1b[')
  const spans = [{ text: plain, styles: '' }]
  let styles = []
  for (const part of parts) {
    const [code, said] = [part.slice(0, part.indexOf('m')), part.slice(part.indexOf('m') + 1)]
    styles = code === '0' ? [] : [...styles, STYLES[code] ?? '']
    spans.push({ text: said, styles: styles.join(' ') })
  }
  return spans.filter(({ text: said }) => said !== '')
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
