/**
 * Once an hour every Mysql is looked at whatever is known of it. Nothing is stored for that: the hour is cut into as many shares as
 * there are runs, and a uid always falls into the same one. So the load is even, and a run that was missed costs its share one hour.
 */
const HOUR = 60;

/** True when it is this Mysql's turn in a run that begins now. `period`: minutes between runs, as the CronJob's schedule has it. */
export function hasTurn(uid: string, now: Date, period: number): boolean {
  const shares = Math.max(1, Math.floor(HOUR / period));
  const share = Math.min(shares - 1, Math.floor(now.getUTCMinutes() / period));
  return hash(uid) % shares === share;
}

/** FNV-1a: even enough, and the same in every process. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return value;
}
