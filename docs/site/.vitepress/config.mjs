import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { headingAnchor } from '../heading-anchor.ts'
import { markdownOfThePages } from '../markdown.mjs'
import { apiGroup, sidebarOf } from './navigation.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SITE = `${ROOT}docs/site/`

/** A hold: two rings, one inside of the other. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#0f766e" stroke-width="4"><circle cx="12" cy="16" r="8"/><circle cx="20" cy="16" r="8"/></svg>'

const TRY = {
  text: 'Try it',
  items: [
    { text: 'Delays and load', link: '/try-delays' },
    { text: 'One history, step by step', link: '/try-history' },
  ],
}

const [begin, ...rest] = sidebarOf(`${ROOT}docs`)

/**
 * Pages become components, and lie outside of the folder that has Vue; the server's build is run inside of it. Drawings are made
 * in the page only.
 */
const packagesOfTheSite = {
  name: 'packages-of-the-site',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^(vue|vue\/server-renderer|mermaid)$/.test(id) ? { id, external: true } : null,
}

export default defineConfig({
  title: 'Holdfast',
  description:
    'An HTTP client that finishes what it began: one key per operation, on disk before its first byte leaves.',
  // The pages are where they are read without a site, too: in docs/, and at the top of the repository.
  srcDir: ROOT,
  srcExclude: [
    'README.md',
    'CONTRIBUTING.md',
    '{src,test,examples,dist,coverage,reports}/**',
    'docs/site/{node_modules,dist,components,.vitepress}/**',
    '**/node_modules/**',
  ],
  rewrites: {
    'docs/README.md': 'index.md',
    'docs/site/pages/:page.md': ':page.md',
    'docs/site/api/:page.md': 'api/:page.md',
    'docs/:folder/:page.md': ':folder/:page.md',
    'docs/:page.md': ':page.md',
  },
  outDir: `${SITE}dist`,
  cacheDir: `${SITE}node_modules/.vitepress-cache`,
  cleanUrls: true,
  // What lies outside of docs/ is one folder higher than its pages say; test/documentation/links.test.ts checks all of them.
  ignoreDeadLinks: [/(SECURITY|CHANGELOG)$/],
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  lastUpdated: false,
  markdown: { config: markdownOfThePages, anchor: { slugify: headingAnchor } },
  vite: {
    plugins: [packagesOfTheSite],
    resolve: { conditions: ['browser'] },
    build: { target: 'es2022', chunkSizeWarningLimit: 2000 },
    server: { fs: { allow: [ROOT] } },
    optimizeDeps: { entries: [] },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Compare', link: '/comparison' },
      { text: 'Try it', items: TRY.items },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    sidebar: [begin, TRY, ...rest.slice(0, -1), ...apiGroup(`${SITE}api`), ...rest.slice(-1)],
  },
})
