import type { OperationRecord, SettledStatus } from '../../operation/record.ts'

/** How the operations that a resume took up ended. `claimed` is the sum of the others. */
export type ResumeReport = { claimed: number; pending: number } & Record<SettledStatus, number>

export function newReport(): ResumeReport {
  return { claimed: 0, succeeded: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0, pending: 0 }
}

export function countIn(report: ResumeReport, { status }: Pick<OperationRecord, 'status'>): void {
  report.claimed++
  report[status]++
}
