import type { Page } from 'playwright-core'

/** What the guidelines want of text, at least. */
const ENOUGH = 4.5

/** The texts on a page that are hard to read: their words, and how they stand out from what is behind them. */
export function lowContrasts(page: Page): Promise<string[]> {
  return page.evaluate((enough) => {
    const shareOf = (channel: number): number => {
      const share = channel / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    const partsOf = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (colour: string): number => {
      const [red = 0, green = 0, blue = 0] = partsOf(colour).map(shareOf)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = (element: Element | null): string => {
      if (!element) return 'rgb(255, 255, 255)'
      const { backgroundColor } = getComputedStyle(element)
      return partsOf(backgroundColor)[3] === 0 ? behind(element.parentElement) : backgroundColor
    }
    const hasText = (element: Element): boolean =>
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim())
    return [...document.body.querySelectorAll('*')]
      .filter((element) => hasText(element) && element.checkVisibility() && element.tagName !== 'NOSCRIPT')
      .map((element) => {
        const lights = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => b - a)
        const ratio = ((lights[0] ?? 0) + 0.05) / ((lights[1] ?? 0) + 0.05)
        return { ratio, words: element.textContent?.trim().slice(0, 30) ?? '' }
      })
      .filter(({ ratio }) => ratio < enough)
      .map(({ ratio, words }) => `${words}: ${ratio.toFixed(2)}`)
  }, ENOUGH)
}
