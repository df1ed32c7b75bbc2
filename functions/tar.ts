/** Writes tar archives (POSIX ustar with GNU long names), as far as image layers need: files, folders, links. */
export interface Entry {
  /** Without a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly type: 'file' | 'folder' | 'link';
  readonly content?: Buffer;
  /** Of a link. */
  readonly target?: string;
}

const BLOCK = 512;

/** Owner root, times zero: the same content gives the same bytes. */
export const tar = (entries: readonly Entry[]): Buffer =>
  Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * BLOCK)]);

function blocksOf(entry: Entry): Buffer[] {
  const path = entry.type === 'folder' ? `${entry.path}/` : entry.path;
  const content = entry.content ?? Buffer.alloc(0);
  const long =
    Buffer.byteLength(path) > 100 ? contentBlocks('././@LongLink', 'L', Buffer.from(`${path}\0`), 0, '') : [];
  const flag = { file: '0', folder: '5', link: '2' }[entry.type];
  return [...long, ...contentBlocks(path, flag, content, entry.mode, entry.target ?? '')];
}

function contentBlocks(path: string, flag: string, content: Buffer, mode: number, target: string): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  header.write(path.slice(0, 100), 0);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148);
  header.write(flag, 156);
  header.write(target, 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [header, content, padding];
}
