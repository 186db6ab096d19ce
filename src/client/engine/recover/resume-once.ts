import type { Engine } from '../engine.ts'
import { Resume } from './resume.ts'
import type { ResumeReport } from './resume-report.ts'

/** One pass, to the end of everything that it took up. An explicit wish takes our own delays back. */
export async function resumeOnce(engine: Engine, concurrency: number, signal: AbortSignal): Promise<ResumeReport> {
  const resume = new Resume(engine, concurrency, signal)
  try {
    await engine.keeper.open()
    if (engine.options.baseUrl) await engine.networkCheck.check(engine.options.baseUrl.href)
    engine.gates.hurry()
    await resume.pass(Number.MAX_SAFE_INTEGER)
  } finally {
    await resume.idle()
  }
  if (resume.deliveryFailure) throw resume.deliveryFailure.error
  return resume.report
}
