import { findProgram, type NeededProgram, type ProgramSearch } from '../../support/find-program.ts'

const BROWSER: NeededProgram = {
  title: 'Chromium',
  variable: 'CHROME_PATH',
  names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
  elsewhere: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  debianPackage: 'chromium',
  missing:
    'The browser tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or set CHROME_PATH to its program',
}

/** The path of a Chromium or Chrome. */
export function findBrowser(search?: ProgramSearch): Promise<string> {
  return findProgram(BROWSER, search)
}
