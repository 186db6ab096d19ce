export {
  type Resuming,
  requestServiceWorkerResume,
  resumeInServiceWorker,
  type ServiceWorkerScope,
} from '../client/coordination/service-worker-resume.ts'
