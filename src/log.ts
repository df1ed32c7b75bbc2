/** Structured logs on stdout. Secrets never come near a log line; the redaction is for the day somebody logs an object whole. */
import { type DestinationStream, type Logger, pino } from 'pino';

export const createLog = (level: string, destination: DestinationStream = pino.destination(1)): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'password',
          '*.password',
          '*.*.password',
          '*.data',
          '*.stringData',
          '*.authorization',
          '*.*.authorization',
        ],
        censor: '[redacted]',
      },
    },
    destination,
  );
