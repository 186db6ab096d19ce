// The documentation as a site. `npm run docs` serves it and follows changes; `npm run docs:build` writes it to docs/site/dist.
// What it is made with is installed on demand, beside the library's own dependencies: it takes another version of Vite.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SITE = fileURLToPath(new URL('./', import.meta.url))
const [command = 'dev', ...options] = process.argv.slice(2)

if (!existsSync(`${SITE}node_modules/vitepress`)) run('npm', 'ci', '--no-audit', '--no-fund')
run(process.execPath, 'api-reference.mjs')
run(process.execPath, 'node_modules/vitepress/bin/vitepress.js', command, '.', ...options)

function run(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: SITE, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
