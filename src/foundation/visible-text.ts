const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Line breaks, and what a terminal would obey or reorder, as JSON escapes it: nobody's text can fake a line of a log. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped)
}

export function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')
}
