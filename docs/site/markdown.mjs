/** What the pages need beside plain Markdown. */
export function markdownOfThePages(markdown) {
  drawMermaid(markdown)
  leadIntoTheSite(markdown)
}

/** Blocks of `mermaid` become drawings, which the page makes. */
function drawMermaid(markdown) {
  const plain = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return plain(tokens, index, ...rest)
    return `<MermaidDrawing source="${encodeURIComponent(content)}" />`
  }
}

/** CHANGELOG.md and SECURITY.md lead to `docs/…`; on the site these pages are beside them. */
function leadIntoTheSite(markdown) {
  markdown.core.ruler.push('into-the-site', ({ tokens }) => {
    const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')
    for (const link of links) link.attrSet('href', String(link.attrGet('href')).replace(/^docs\//, ''))
  })
}
