import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tell } from '../support/section.mjs'

const FOLDER = fileURLToPath(new URL('./peers/', import.meta.url))
const PEERS = ['@dbos-inc/dbos-sdk', 'graphile-worker', 'pg-boss']

/** Installs the peers beside their programs, once: `npm ci` of the project does not carry them. */
export async function installPeers() {
  if (PEERS.every((name) => existsSync(`${FOLDER}node_modules/${name}`))) return
  tell('installing the peers')
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: FOLDER })
}
