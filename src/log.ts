/** Structured logs on stdout. Secrets never come near a log line; the redaction is for the day somebody logs an object whole. */
import { type Logger, pino } from 'pino';

export const createLog = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['*.password', '*.*.password', '*.data', 'headers.authorization'],
      censor: '[redacted]',
    },
  });
