"""Dataclasses that take no time to make.

The standard library writes and compiles up to six methods for each class, and imports
``inspect`` for it: together three starts of an interpreter for the forty classes of a
sync. Here all classes share one set of methods. Type checkers see the standard names, and
at run time these mean the same for what ctxgit uses of them; ``dataclasses.fields``,
``asdict`` and ``replace`` take what is made here.
"""

from __future__ import annotations

__all__ = ["dataclass", "field", "replace"]

TYPE_CHECKING = False  # type checkers take it for true; typing would have to be imported
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:

    def dataclass(cls=None, /, *, frozen=False, kw_only=False):
        """Make a dataclass of ``cls``, with equality, repr and, if ``frozen``, a hash."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, kw_only=kw_only)
        own = {name: vars(cls).get(name, REQUIRED) for name in cls.__annotations__}
        cls._record_ = _Record(getattr(cls, "_record_", None), own)
        for name, default in own.items():
            if isinstance(default, field):
                delattr(cls, name)
        cls.__match_args__ = () if kw_only else tuple(cls._record_.names)
        cls.__dataclass_fields__ = _StandardFields()
        cls.__init__, cls.__eq__, cls.__repr__ = _init, _eq, _repr
        cls.__hash__ = _hash if frozen else None
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return cls

    class field:  # noqa: N801 - the standard name
        """A default that is made anew for each instance."""

        def __init__(self, *, default_factory):
            self.default_factory = default_factory

    def replace(instance, /, **changes):
        """Return a copy of ``instance`` with ``changes``."""
        cls = type(instance)
        if not changes.keys() <= cls._record_.names:
            raise TypeError(f"{cls.__name__} has no {changes.keys() - cls._record_.names}")
        copy = object.__new__(cls)
        copy.__dict__.update(instance.__dict__, **changes)
        return copy

    REQUIRED = object()

    class _Record:
        """The fields of a class: all names, and the defaults of those that have one."""

        def __init__(self, parent, own):
            self.fields = {**(parent.fields if parent else {}), **own}
            self.names = self.fields.keys()
            self.defaults = {}
            self.factories = {}
            for name, default in self.fields.items():
                if isinstance(default, field):
                    self.factories[name] = default.default_factory
                elif default is not REQUIRED:
                    self.defaults[name] = default

    def _init(self, *args, **given):
        record = self._record_
        if args:
            places = dict(zip(self.__match_args__, args, strict=False))
            if len(places) < len(args) or places.keys() & given.keys():
                raise TypeError(f"{type(self).__name__} got too many arguments")
            given |= places
        values = {**record.defaults, **given}
        for name, make in record.factories.items():
            if name not in values:
                values[name] = make()
        if values.keys() != record.names:
            wrong = ", ".join(sorted(values.keys() ^ record.names))
            raise TypeError(f"{type(self).__name__} got wrong arguments: {wrong}")
        self.__dict__.update(values)

    def _eq(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def _hash(self):
        return hash(tuple(map(self.__dict__.get, self._record_.names)))

    def _repr(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._record_.names)
        return f"{type(self).__qualname__}({fields})"

    def _refuse(_, name, *_value):
        from dataclasses import FrozenInstanceError  # noqa: PLC0415 - a bug, and then told

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    class _StandardFields:
        """What the standard library's functions ask a class for, made when they ask."""

        def __get__(self, instance, cls):
            import dataclasses  # noqa: PLC0415 - not to be needed in a sync

            def standard(default):
                if default is REQUIRED:
                    return dataclasses.field()
                if isinstance(default, field):
                    return dataclasses.field(default_factory=default.default_factory)
                return dataclasses.field(default=default)

            types = {
                name: kind for base in reversed(cls.__mro__) for name, kind in _annotations(base)
            }
            made = dataclasses.make_dataclass(
                cls.__name__,
                [(name, types[name], standard(d)) for name, d in cls._record_.fields.items()],
                kw_only=True,
            )
            cls.__dataclass_fields__ = made.__dataclass_fields__
            return made.__dataclass_fields__

    def _annotations(base):
        return getattr(base, "__annotations__", {}).items()
