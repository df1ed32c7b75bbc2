import { quantity } from '../desired/quantity.ts';
import { refusedConfig } from '../mysql/config.ts';
import type { Mysql } from '../resource/mysql.ts';
import type { Rule } from './conclusion.ts';

/**
 * A spec that cannot be. The CRD's schema refuses most of it at admission; what came by another way (an older CRD, a direct
 * write) and what only the operator knows (reserved variables) is named here. The owned objects stay as they are; labels and joins go on.
 */
export const invalid: Rule = ({ observed }) => {
  const faults = faultsOf(observed.mysql);
  return faults.length === 0
    ? undefined
    : { state: 'Invalid', message: `${faults.join('; ')}.`, transitional: false, duties: 'noObjects' };
};

function faultsOf({ metadata, spec }: Mysql): readonly string[] {
  const name = metadata.name ?? '';
  const faults: string[] = [];
  if (name.length > 40)
    faults.push('metadata.name may have at most 40 characters: create it again under a shorter one');
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    faults.push('metadata.name must begin with a letter and hold only lower-case letters, digits and "-"');
  }
  if (!Number.isInteger(spec.size) || spec.size < 0 || spec.size > 9) {
    faults.push('spec.size must be a whole number from 0 to 9');
  }
  if (typeof spec.image !== 'string' || spec.image.trim() === '') {
    faults.push('spec.image must name an image, for example mysql:8.4');
  }
  const storage = spec.storage?.size;
  if (storage !== undefined && !((quantity(storage) ?? 0) > 0)) {
    faults.push('spec.storage.size must be a quantity above 0, for example 10Gi');
  }
  if (spec.primary !== undefined && spec.size > 0 && !isOrdinalBelow(spec.primary, spec.size)) {
    faults.push('spec.primary must be a member below spec.size: members are numbered from 0');
  }
  return [...faults, ...refusedConfig(spec.config)];
}

const isOrdinalBelow = (value: number, size: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < size;
