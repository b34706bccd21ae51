//! `wasi:filesystem` over the directories that the call was granted.

use wasmtime::component::Resource;

use super::{
    bindings::wasi::filesystem::{
        preopens,
        types::{
            self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
            ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
        },
    },
    descriptor::{kind, told},
    handles::{Descriptor, Directory, Failure, FileId, Input, ListingId, Output},
    place::Place,
};
use crate::plugins::call_state::CallState;

type Handle = Resource<Descriptor>;
type Answer<T> = wasmtime::Result<Result<T, ErrorCode>>;

impl preopens::Host for CallState {
    /// The granted directories, under their absolute paths.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Handle, String)>> {
        self.may_go_on()?;
        let roots: Vec<String> = self.call.reach.roots().map(|root| root.path).collect();
        self.instance.tell(&roots);
        let open = roots.into_iter().map(|tree| {
            let directory = Directory {
                tree: tree.as_str().into(),
                path: String::new(),
            };
            let handle = self
                .instance
                .handles
                .add(Descriptor::Directory(directory))?;
            Ok((handle, tree))
        });
        open.collect()
    }
}

impl CallState {
    /// Does something at a path below a directory. What was written before is kept first, so that it is found there.
    fn at<T>(
        &mut self,
        directory: &Handle,
        path: &str,
        act: impl FnOnce(&mut Self, Place) -> Result<T, ErrorCode>,
    ) -> Answer<T> {
        self.may_go_on()?;
        self.keep_written_files()?;
        let place = match self.directory(directory)? {
            Ok(directory) => directory.below(path),
            Err(error) => Err(error),
        };
        Ok(place.and_then(|place| act(self, place)))
    }

    /// Does something with an open file.
    fn with_file<T>(
        &mut self,
        file: &Handle,
        to_write: bool,
        act: impl FnOnce(&mut Self, FileId) -> Result<T, ErrorCode>,
    ) -> Answer<T> {
        self.may_go_on()?;
        Ok(match self.file(file)? {
            Ok((_, false)) if to_write => Err(ErrorCode::BadDescriptor),
            Ok((id, _)) => act(self, id),
            Err(error) => Err(error),
        })
    }

    fn output(&mut self, file: &Handle, at: Option<u64>) -> Answer<Resource<Output>> {
        let id = match self.with_file(file, true, |_, id| Ok(id))? {
            Ok(id) => id,
            Err(error) => return Ok(Err(error)),
        };
        let stream = self.instance.handles.add(Output::File { id, at })?;
        self.call.files.share(id);
        Ok(Ok(stream))
    }
}

impl types::Host for CallState {
    fn filesystem_error_code(
        &mut self,
        error: Resource<Failure>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(Some(self.instance.handles.get(&error)?.0.into()))
    }
}

impl types::HostDescriptor for CallState {
    fn read_via_stream(&mut self, file: Handle, at: u64) -> Answer<Resource<Input>> {
        let id = match self.with_file(&file, false, |_, id| Ok(id))? {
            Ok(id) => id,
            Err(error) => return Ok(Err(error)),
        };
        let stream = self.instance.handles.add(Input::File { id, at })?;
        self.call.files.share(id);
        Ok(Ok(stream))
    }

    fn write_via_stream(&mut self, file: Handle, at: u64) -> Answer<Resource<Output>> {
        self.output(&file, Some(at))
    }

    fn append_via_stream(&mut self, file: Handle) -> Answer<Resource<Output>> {
        self.output(&file, None)
    }

    fn advise(&mut self, file: Handle, _at: u64, _length: u64, _advice: Advice) -> Answer<()> {
        self.with_file(&file, false, |_, _| Ok(()))
    }

    fn sync_data(&mut self, descriptor: Handle) -> Answer<()> {
        self.sync(descriptor)
    }

    fn get_flags(&mut self, descriptor: Handle) -> Answer<DescriptorFlags> {
        Ok(Ok(match self.instance.handles.get(&descriptor)? {
            Descriptor::File { writes: true, .. } => DescriptorFlags::READ | DescriptorFlags::WRITE,
            Descriptor::File { .. } => DescriptorFlags::READ,
            Descriptor::Directory(_) => DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY,
        }))
    }

    fn get_type(&mut self, descriptor: Handle) -> Answer<DescriptorType> {
        Ok(Ok(match self.instance.handles.get(&descriptor)? {
            Descriptor::File { .. } => DescriptorType::RegularFile,
            Descriptor::Directory(_) => DescriptorType::Directory,
        }))
    }

    fn set_size(&mut self, file: Handle, size: u64) -> Answer<()> {
        self.with_file(&file, true, |state, id| {
            Ok(state.call.files.set_size(id, size, &mut state.call.reach)?)
        })
    }

    /// Times are the system's.
    fn set_times(
        &mut self,
        _descriptor: Handle,
        _accessed: NewTimestamp,
        _modified: NewTimestamp,
    ) -> Answer<()> {
        Ok(Err(ErrorCode::Unsupported))
    }

    fn read(&mut self, file: Handle, length: u64, at: u64) -> Answer<(Vec<u8>, bool)> {
        self.with_file(&file, false, |state, id| {
            let bytes = state
                .call
                .files
                .read(id, at, length, &mut state.call.reach)?;
            let is_end = bytes.is_empty() && length > 0;
            Ok((bytes, is_end))
        })
    }

    fn write(&mut self, file: Handle, bytes: Vec<u8>, at: u64) -> Answer<u64> {
        self.with_file(&file, true, |state, id| {
            let files = &mut state.call.files;
            let end = files.write(id, Some(at), &bytes, &mut state.call.reach)?;
            Ok(end.saturating_sub(at))
        })
    }

    fn read_directory(&mut self, directory: Handle) -> Answer<Resource<ListingId>> {
        self.may_go_on()?;
        self.keep_written_files()?;
        let place = match self.directory(&directory)? {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let id = ListingId(self.instance.number());
        let begun = self.call.listings.begin(id, place, &mut self.call.reach);
        if let Err(error) = begun {
            return Ok(Err(error.into()));
        }
        self.instance.handles.add_listing(id).map(Ok)
    }

    fn sync(&mut self, _descriptor: Handle) -> Answer<()> {
        self.may_go_on()?;
        self.keep_written_files()?;
        Ok(Ok(()))
    }

    fn create_directory_at(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.at(&directory, &path, |state, place| {
            Ok(state.call.reach.create_directory(place.tree, &place.path)?)
        })
    }

    fn stat(&mut self, descriptor: Handle) -> Answer<DescriptorStat> {
        self.may_go_on()?;
        let descriptor = self.instance.handles.get(&descriptor)?.clone();
        Ok(self.stat_of(&descriptor))
    }

    fn stat_at(
        &mut self,
        directory: Handle,
        how: PathFlags,
        path: String,
    ) -> Answer<DescriptorStat> {
        self.at(&directory, &path, |state, place| {
            let stat = match how.contains(PathFlags::SYMLINK_FOLLOW) {
                true => state.call.reach.stat(place.tree, &place.path),
                false => state.call.reach.stat_name(place.tree, &place.path),
            };
            Ok(told(stat?))
        })
    }

    fn set_times_at(
        &mut self,
        _directory: Handle,
        _how: PathFlags,
        _path: String,
        _accessed: NewTimestamp,
        _modified: NewTimestamp,
    ) -> Answer<()> {
        Ok(Err(ErrorCode::Unsupported))
    }

    /// No component makes links: they would be another name for what a rule closes.
    fn link_at(
        &mut self,
        _directory: Handle,
        _how: PathFlags,
        _path: String,
        _to: Handle,
        _new_path: String,
    ) -> Answer<()> {
        Ok(Err(ErrorCode::NotPermitted))
    }

    fn open_at(
        &mut self,
        directory: Handle,
        path_flags: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Answer<Handle> {
        let follows = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let opened = self.at(&directory, &path, |state, place| {
            state.open(place, follows, how, flags)
        })?;
        match opened {
            Ok(descriptor) => self.instance.handles.add(descriptor).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Where a link leads may be nobody's business here.
    fn readlink_at(&mut self, _directory: Handle, _path: String) -> Answer<String> {
        Ok(Err(ErrorCode::NotPermitted))
    }

    fn remove_directory_at(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.at(&directory, &path, |state, place| {
            state.remove_directory(&place)
        })
    }

    fn rename_at(
        &mut self,
        directory: Handle,
        path: String,
        to: Handle,
        new_path: String,
    ) -> Answer<()> {
        let to = match self.directory(&to)? {
            Ok(to) => to.below(&new_path),
            Err(error) => Err(error),
        };
        self.at(&directory, &path, |state, from| state.rename(&from, &to?))
    }

    fn symlink_at(&mut self, _directory: Handle, _to: String, _path: String) -> Answer<()> {
        Ok(Err(ErrorCode::NotPermitted))
    }

    fn unlink_file_at(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.at(&directory, &path, |state, place| state.unlink(&place))
    }

    fn is_same_object(&mut self, one: Handle, other: Handle) -> wasmtime::Result<bool> {
        Ok(self.place_of(&one)? == self.place_of(&other)?)
    }

    fn metadata_hash(&mut self, descriptor: Handle) -> Answer<MetadataHashValue> {
        self.may_go_on()?;
        Ok(match self.place_of(&descriptor)? {
            Ok(place) => self.hash_of(&place, true),
            Err(error) => Err(error),
        })
    }

    fn metadata_hash_at(
        &mut self,
        directory: Handle,
        how: PathFlags,
        path: String,
    ) -> Answer<MetadataHashValue> {
        let follows = how.contains(PathFlags::SYMLINK_FOLLOW);
        self.at(&directory, &path, |state, place| {
            state.hash_of(&place, follows)
        })
    }

    fn drop(&mut self, descriptor: Handle) -> wasmtime::Result<()> {
        match self.instance.handles.remove(descriptor)? {
            Descriptor::Directory(_) => Ok(()),
            Descriptor::File { id, .. } => Ok(self.call.files.close(id, &mut self.call.reach)?),
        }
    }
}

impl types::HostDirectoryEntryStream for CallState {
    fn read_directory_entry(
        &mut self,
        stream: Resource<ListingId>,
    ) -> Answer<Option<DirectoryEntry>> {
        self.may_go_on()?;
        let id = *self.instance.handles.get(&stream)?;
        let next = self.call.listings.next(id, &mut self.call.reach);
        Ok(match next {
            Ok(entry) => Ok(entry.map(|entry| DirectoryEntry {
                type_: kind(entry.kind),
                name: entry.name,
            })),
            Err(error) => Err(error.into()),
        })
    }

    fn drop(&mut self, stream: Resource<ListingId>) -> wasmtime::Result<()> {
        let id = self.instance.handles.remove_listing(stream)?;
        self.call.listings.end(id);
        Ok(())
    }
}
