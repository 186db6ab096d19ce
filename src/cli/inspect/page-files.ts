import { source as icon } from './page/icon.svg?page'
import { source as script } from './page/main.ts?page'
import { source as style } from './page/page.css?page'
import { source as html } from './page/page.html?page'

export interface PageFile {
  readonly type: string
  readonly text: string
}

/** The page of the inspector, whole: nothing of it comes from elsewhere. */
export const PAGE_FILES: Readonly<Record<string, PageFile>> = {
  '/': { type: 'text/html; charset=utf-8', text: html },
  '/page.css': { type: 'text/css; charset=utf-8', text: style },
  '/page.js': { type: 'text/javascript; charset=utf-8', text: script },
  '/icon.svg': { type: 'image/svg+xml', text: icon },
}

/**
 * Of every answer. The page loads its own files and talks to its own server; its script cannot write HTML at all
 * (trusted types), so that a hostile body or name stays text.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
