// Follows the tutorial and draws its last part, both crashes, as it was printed: docs/pictures/tutorial.svg.
// Run: npm run docs:record.
import { writeFileSync } from 'node:fs'
import { Tutorial } from '../../test/documentation/support/tutorial.ts'
import { terminalPicture } from './terminal-picture.mjs'

const LAST_PART = '$ CRASH=answer node shop.mjs desk'
/** A reader's hands are slower than a script. */
const TYPING_MS = 1200
const READING_MS = 250

const tutorial = await Tutorial.open()
const printed: string[] = []
await tutorial.follow((line) => printed.push(line))
await tutorial.close()

let atMs = 0
const lines = printed.slice(printed.indexOf(LAST_PART) - 1).map((text) => {
  atMs += text.startsWith('$') ? TYPING_MS : READING_MS
  return { atMs, text: coloured(text) }
})
const size = { columns: 60, rows: lines.length + 1, title: 'both crash' }
writeFileSync('docs/pictures/tutorial.svg', terminalPicture(lines, size))

function coloured(text: string): string {
  if (text.startsWith('$'))
    return text.replace('$', '\x1b[32m$\x1b[0m').replace('CRASH=answer', '\x1b[31mCRASH=answer\x1b[0m')
  return text
    .replace('Killed', '\x1b[31mKilled\x1b[0m')
    .replace('desk: charged 1 x', '\x1b[32mdesk: charged 1 x\x1b[0m')
}
