/** Blocks of `mermaid` become drawings, which the page makes. */
export function mermaidFence(markdown) {
  const plain = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return plain(tokens, index, ...rest)
    return `<MermaidDrawing source="${encodeURIComponent(content)}" />`
  }
}
