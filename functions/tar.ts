/** Writes tar archives (POSIX ustar, GNU long names), as far as image layers need: files and folders. */
export interface Entry {
  /** Without a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly type: 'file' | 'folder';
  readonly content?: Buffer;
}

const BLOCK = 512;
/** Bytes of a path that fit into a header. */
const NAME = 100;

/** Owner root, times zero: the same content gives the same bytes. */
export const tar = (entries: readonly Entry[]): Buffer =>
  Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * BLOCK)]);

function blocksOf({ path, mode, type, content = Buffer.alloc(0) }: Entry): Buffer[] {
  const name = Buffer.from(type === 'folder' ? `${path}/` : path);
  const long = name.length > NAME ? record(Buffer.from('././@LongLink'), 'L', 0, terminated(name)) : [];
  return [...long, ...record(name.subarray(0, NAME), type === 'folder' ? '5' : '0', mode, content)];
}

/** Header, content, padding to whole blocks. */
function record(name: Buffer, flag: string, mode: number, content: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  name.copy(header);
  octal(mode, 100, 8);
  octal(0, 108, 8); // user
  octal(0, 116, 8); // group
  octal(content.length, 124, 12);
  octal(0, 136, 12); // time
  header.write('        ', 148); // the sum counts itself as blanks
  header.write(flag, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

const terminated = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(1)]);
